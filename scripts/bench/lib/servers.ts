import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { until } from '../../../src/testing/until.ts'
import type { Lab, Process } from './lab.ts'
import { ask } from './load.ts'

/** A web server that runs on a loopback port. `host` is the Host header under which the measured site answers. */
export type Server = { name: string; port: number; host: string; process: Process }

/** A port that is free now, for servers that cannot say which one they took. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** nginx as its own manual tunes it for files: one worker, `sendfile`, open files kept, `.gz` files beside, no log. */
export async function startNginx(lab: Lab, site: string): Promise<Server> {
  const folder = lab.folder('nginx')
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, nginxConfig(folder, site, port))
  const child = lab.spawn(['nginx', '-e', join(folder, 'error.log'), '-p', folder, '-c', config])
  return untilReady({ name: 'nginx', port, host: 'bench.localhost', process: child })
}

/** Caddy's `file_server` with `.gz` files beside, without its admin port and without a log. */
export async function startCaddy(lab: Lab, site: string): Promise<Server> {
  const port = await freePort()
  return untilReady({ name: 'caddy', port, host: 'bench.localhost', process: spawnCaddy(lab, site, port) })
}

export function spawnCaddy(lab: Lab, site: string, port: number): Process {
  const folder = lab.folder('caddy')
  const config = join(folder, 'Caddyfile')
  writeFileSync(config, caddyConfig(site, port))
  return lab.spawn(['caddy', 'run', '--config', config, '--adapter', 'caddyfile'], {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  })
}

/** Waits for the first answer of any status; fails with the server's own words when it ends before. */
export async function untilReady(server: Server, limitMs = 15_000): Promise<Server> {
  let isOver = false
  void server.process.exited.then(() => {
    isOver = true
  })
  const answered = async () => {
    if (isOver) throw new Error(`${server.name} ended`)
    return ask(server, '/').catch(() => undefined)
  }
  try {
    await until(`an answer of ${server.name}`, answered, limitMs)
    return server
  } catch {
    await server.process.stop()
    throw new Error(`${server.name} does not answer on port ${server.port}: ${await server.process.output()}`)
  }
}

/** Started by root, nginx would drop to a user who cannot read the temporary folder. */
export const isRoot = () => process.getuid?.() === 0

const nginxConfig = (folder: string, site: string, port: number) => `
daemon off;
worker_processes 1;
${isRoot() ? 'user root;' : ''}
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=10000 inactive=60s;
  open_file_cache_valid 60s;
  gzip_static on;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    server_name bench.localhost;
    root ${site};
  }
}
`

const caddyConfig = (site: string, port: number) => `
{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
http://bench.localhost:${port} {
  bind 127.0.0.1
  root * ${site}
  file_server {
    precompressed gzip
  }
}
`
