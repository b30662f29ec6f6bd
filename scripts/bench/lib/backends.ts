import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import type { TestCa } from '../../../src/testing/test-ca.ts'
import { until } from '../../../src/testing/until.ts'
import { noise } from './content.ts'
import { type Lab, LOAD_CORE } from './lab.ts'
import { freePort, isRoot } from './servers.ts'

/** TLS backends on loopback ports: one serves files, one answers nothing, and many serve the same files. */
export type Backends = {
  files: number
  hanging: number
  /** Each is a backend of its own for the proxy; behind all of them is one process. */
  many: readonly number[]
  /** Waits until the one that answers nothing holds `count` requests (0: none). */
  untilHanging(count: number): Promise<void>
  close(): Promise<void>
}

export const MANY = 100

/**
 * They share the core of the load, so that the proxy has its own. The files are `1k.bin` and `100k.bin`; below `varied/`
 * no head of an answer is like another.
 */
export async function startBackends(lab: Lab, ca: TestCa): Promise<Backends> {
  const { cert, key } = ca.issue({ names: ['127.0.0.1', 'localhost'] })
  const files = await startFiles(lab, cert, key)
  const hanging = await startHanging(cert, key)
  return {
    files: files.port,
    many: files.many,
    ...hanging,
    async close() {
      await hanging.close()
      await files.stop()
    },
  }
}

async function startFiles(lab: Lab, cert: string, key: string) {
  const folder = lab.folder('backend')
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi', 'files']) mkdirSync(join(folder, name))
  for (const [name, bytes] of [['1k.bin', 1024] as const, ['100k.bin', 102_400] as const])
    writeFileSync(join(folder, 'files', name), noise(bytes))
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 })
  const ports = await Promise.all(Array.from({ length: MANY + 1 }, freePort))
  const [port = 0, ...many] = ports
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, filesConfig(folder, ports))
  const argv = ['nginx', '-e', join(folder, 'error.log'), '-p', folder, '-c', config]
  const child = lab.spawn(argv, { cores: LOAD_CORE })
  return { port, many, stop: () => child.stop() }
}

async function startHanging(cert: string, key: string) {
  let held = 0
  const server = createServer({ cert, key }, (_, response) => {
    held += 1
    response.on('close', () => {
      held -= 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    hanging: address.port,
    async untilHanging(count: number) {
      const isReached = () => (count === 0 ? held === 0 : held >= count)
      await until(`${count} requests to hang`, isReached, 10_000)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const filesConfig = (folder: string, ports: readonly number[]) => `
daemon off;
worker_processes 1;
${isRoot() ? 'user root;' : ''}
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  open_file_cache max=100 inactive=60s;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    ${ports.map((port) => `listen 127.0.0.1:${port} ssl;`).join(' ')}
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    root ${folder}/files;
    location /varied/ {
      alias ${folder}/files/;
      add_header X-Request-Id $request_id;
    }
  }
}
`
