import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab } from './lab.ts'
import { freePort, isRoot, type Server, untilReady } from './servers.ts'

const HOST = 'bench.localhost'

/** nginx's `proxy_pass` for `/api/`: one worker, connections to the backend kept, its certificate verified. */
export async function startNginxProxy(lab: Lab, backend: number, caFile: string): Promise<Server> {
  const folder = lab.folder('nginx')
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, nginxConfig(folder, { port, backend, caFile }))
  const child = lab.spawn(['nginx', '-e', join(folder, 'error.log'), '-p', folder, '-c', config])
  return untilReady({ name: 'nginx', port, host: HOST, process: child })
}

/** Caddy's `reverse_proxy` for `/api/`, with as many kept connections as are asked for. */
export async function startCaddyProxy(lab: Lab, backend: number, caFile: string): Promise<Server> {
  const folder = lab.folder('caddy')
  const port = await freePort()
  const config = join(folder, 'Caddyfile')
  writeFileSync(config, caddyConfig({ port, backend, caFile }))
  const child = lab.spawn(['caddy', 'run', '--config', config, '--adapter', 'caddyfile'], {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  })
  return untilReady({ name: 'caddy', port, host: HOST, process: child })
}

type Places = { port: number; backend: number; caFile: string }

const nginxConfig = (folder: string, { port, backend, caFile }: Places) => `
daemon off;
worker_processes 1;
${isRoot() ? 'user root;' : ''}
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream backend {
    server 127.0.0.1:${backend};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    server_name ${HOST};
    location /api/ {
      proxy_pass https://backend/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host 127.0.0.1:${backend};
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_ssl_verify on;
      proxy_ssl_trusted_certificate ${caFile};
      proxy_ssl_name localhost;
    }
  }
}
`

const caddyConfig = ({ port, backend, caFile }: Places) => `
{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
http://${HOST}:${port} {
  bind 127.0.0.1
  handle_path /api/* {
    reverse_proxy https://127.0.0.1:${backend} {
      transport http {
        tls_trusted_ca_certs ${caFile}
        tls_server_name localhost
        versions 1.1
        compression off
        keepalive_idle_conns 512
        keepalive_idle_conns_per_host 512
      }
    }
  }
}
`
