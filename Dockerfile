# prismd and prismctl on Debian 12, as a user without rights.
#
#   docker build -t prismd .
#   docker run --rm -p 127.0.0.1:7450:7450 -p 127.0.0.1:7451:7451 prismd
FROM debian:bookworm-slim AS build
# As in tests/run: a compiler cache that is mounted here counts the locale.
ENV LANG=C.UTF-8
WORKDIR /prism
COPY deploy/packages.txt deploy/install-packages deploy/
RUN deploy/install-packages build
COPY . .
RUN cmake --preset release -DPRISM_BUILD_TESTS=OFF \
 && cmake --build --preset release --target prismd prismctl \
 && strip build/release/bin/prismd build/release/bin/prismctl

FROM debian:bookworm-slim
COPY deploy/packages.txt deploy/install-packages /tmp/deploy/
RUN /tmp/deploy/install-packages runtime \
 && rm -rf /tmp/deploy /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && useradd --system --uid 10001 --no-create-home prism \
 && install -d -o prism -m 0700 /var/lib/prism
COPY --from=build /prism/build/release/bin/prismd \
                  /prism/build/release/bin/prismctl /usr/local/bin/
USER 10001
EXPOSE 7450 7451
# GET /healthz in bash, so that the image needs no HTTP client.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD \
  ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7451 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["prismd"]
CMD ["--listen", "0.0.0.0:7450", "--http", "0.0.0.0:7451"]
