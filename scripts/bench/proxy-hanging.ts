import { createConnection, type Socket } from 'node:net'
import type { Backends } from './lib/backends.ts'
import { load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { ratios } from './lib/stats.ts'
import type { Svc } from './lib/svc.ts'

const HANGING = 300
/** So many of them reach the backend, which is the most that one backend is given; the others wait for their turn. */
const REACHING = 256

/** What requests that never end at one backend take from another backend and from files: each with them over without. */
export async function besideHanging(
  svc: Svc,
  backends: Backends,
  { rounds, seconds }: Pace,
): Promise<Line[]> {
  const lines: Line[] = []
  for (const [name, path] of [
    ['another backend', '/api/1k.bin'],
    ['files', '/1k.html'],
  ] as const) {
    const rate = async () => (await load({ ...svc, pid: svc.process.pid, path, seconds })).requestsPerSecond
    const alone: number[] = []
    const beside: number[] = []
    await rate()
    for (let round = 0; round < rounds; round++) {
      alone.push(await rate())
      const hanging = await hang(svc, backends)
      beside.push(await rate())
      await hanging.end()
    }
    lines.push({
      name: `${HANGING} hanging, ${name}`,
      measure: 'with/without',
      samples: ratios(beside, alone),
      bar: { atLeast: 0.9, aim: 1 },
    })
  }
  return lines
}

/** Opens the requests that never end. By bare sockets, as `fetch` would send no more than 256 of them at a time. */
async function hang(svc: Svc, backends: Backends): Promise<{ end(): Promise<void> }> {
  const sockets: Socket[] = []
  for (let i = 0; i < HANGING; i++) {
    const socket = createConnection(svc.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET /hang/${i} HTTP/1.1\r\nhost: ${svc.host}\r\n\r\n`)
    sockets.push(socket)
  }
  await backends.untilHanging(REACHING)
  return {
    async end() {
      for (const socket of sockets) socket.destroy()
      await backends.untilHanging(0)
    },
  }
}
