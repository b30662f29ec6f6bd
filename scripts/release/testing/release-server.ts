import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

/** How a server answers for a file in the place of sending it. */
export type Answer = (socket: Socket, bytes: Buffer) => void

export type ReleaseServer = { url: string; asked: string[]; stop(): void }

/** Serves a folder by HTTP on loopback, and for the names in `answers` does as these do. */
export async function startReleaseServer(
  folder: string,
  answers: Readonly<Record<string, Answer>> = {},
): Promise<ReleaseServer> {
  const asked: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      const path = /^GET \/(\S*) /.exec(head.toString('latin1'))?.[1] ?? ''
      asked.push(path)
      const file = join(folder, path)
      if (existsSync(file)) (answers[path] ?? whole)(socket, readFileSync(file))
      else socket.end(answerHead('404 Not Found', 0))
    })
  })
  return { url: `http://127.0.0.1:${await portOf(server)}`, asked, stop: () => server.close() }
}

const portOf = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })

const answerHead = (status: string, length: number, more = ''): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n${more}\r\n`

const whole: Answer = (socket, bytes) => {
  socket.write(answerHead('200 OK', bytes.length))
  socket.end(bytes)
}

/** Closes in the middle, whatever it announced. */
export const endsInTheMiddle: Answer = (socket, bytes) => {
  socket.write(answerHead('200 OK', bytes.length))
  socket.end(bytes.subarray(0, bytes.length / 2))
}

/** Closes in the middle of what has no length, as HTTP/1.0 did: nobody can see that it is not all. */
export const endsUnseen: Answer = (socket, bytes) => {
  socket.write('HTTP/1.0 200 OK\r\n\r\n')
  socket.end(bytes.subarray(0, bytes.length / 2))
}

export const redirectsTo =
  (location: string): Answer =>
  (socket) =>
    socket.end(answerHead('302 Found', 0, `Location: ${location}\r\n`))

export const sendsAByteASecond: Answer = (socket, bytes) => {
  socket.write(answerHead('200 OK', bytes.length))
  let at = 0
  const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 1000)
  socket.on('close', () => clearInterval(timer))
}
