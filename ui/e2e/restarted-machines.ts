import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Appliance, clientsOf } from './appliance.ts'

const BUN = process.env['SVC_BUN'] ?? 'bun'
const MAIN = join(import.meta.dirname, '../../src/testing/restarted-machines-main.ts')

/** A primary, a stand-by and two nodes behind HAProxy on the store of `npm run test:store`, restarted one after the other. */
export async function startMachines(env: Record<string, string>): Promise<Appliance> {
  const child = spawn(BUN, [MAIN, JSON.stringify(env)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines: string[] = []
  const reader = createInterface(child.stdout)
  reader.on('line', (line) => lines.push(line))
  await Promise.race([once(reader, 'line'), exited])
  const port = Number(lines[0])
  if (!(port > 0)) throw new Error(`the machines did not start: ${lines.join('\n')}`)
  return {
    ...clientsOf(env, { port, plainPort: port, home: tmpdir() }),
    output: () => lines.join('\n'),
    async stop() {
      child.stdin.end()
      const [code] = await exited
      if (code !== 0) throw new Error(`the machines ended with ${code}: ${lines.join('\n')}`)
    },
  }
}
