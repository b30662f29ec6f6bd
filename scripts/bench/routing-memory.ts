import { run } from './lib/lab.ts'
import type { Line } from './lib/report.ts'
import type { RoutingMemory } from './lib/routing-heap.ts'

const MEBIBYTE = 2 ** 20

/** What routing files add to the heap of a server whose sites have been visited, in a process of its own. */
export async function benchRoutingMemory(): Promise<Line[]> {
  const output = await run([process.execPath, `${import.meta.dir}/lib/routing-heap.ts`])
  const { one, many, sites } = JSON.parse(output) as RoutingMemory
  const line = (name: string, bytes: number, atMost: number): Line => ({
    name,
    measure: 'MiB more',
    samples: [bytes / MEBIBYTE],
    bar: { atMost },
  })
  return [
    line('full routing files of one site', one, 4),
    line(`ten lines on each of ${sites} sites`, many, 24),
  ]
}
