# Stage 1 builds dist/svc; `npm run build` installs what it needs by itself.
FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run build

# Stage 2 holds the executable and the C library that it links to. It brings its own CA certificates.
FROM debian:bookworm-slim
RUN groupadd --gid 65532 svc \
 && useradd --uid 65532 --gid svc --home-dir /data --shell /usr/sbin/nologin svc \
 && install --directory --mode=0750 --owner=svc --group=svc /data
COPY --from=build /src/dist/svc /usr/local/bin/svc
ENV DATA_DIR=/data
USER svc
WORKDIR /data
VOLUME /data
# With TLS on: 443, and 80 beside it.
EXPOSE 3000 80 443
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s --retries=3 CMD ["svc", "health"]
ENTRYPOINT ["svc"]
CMD ["serve"]
