/** A project that the workspace said to have made, and the number of the log that has it. contract 18 §6: `svc-at`. */
export type Acknowledged = {
  name: string
  epoch: number
  number: number
  sentAt: number
  answeredAt: number
}

/** Changes that are made until it `end`s. */
export type Writing = {
  acknowledged: Acknowledged[]
  /** Answers with 503, and those that did not come. */
  refused: number
  /** Answers that no change may get. */
  wrong: string[]
  end(): Promise<void>
}

const WRITERS = 2
const PAUSE_MS = 10
const AGAIN_AFTER_MS = 100

/** Some writers at each machine, whatever its role, which make one project after another. The machines have a `NODE_SECRET`. */
export function writeTo(urls: readonly string[], cookie: string): Writing {
  let isOver = false
  const writing: Writing = {
    acknowledged: [],
    refused: 0,
    wrong: [],
    async end() {
      isOver = true
      await Promise.all(all)
    },
  }
  const writer = async (url: string, id: string) => {
    for (let n = 0; !isOver; n += 1)
      await Bun.sleep((await writeOnce(writing, url, cookie, `${id}-${n}`)) ? PAUSE_MS : AGAIN_AFTER_MS)
  }
  const all = urls.flatMap((url, at) => Array.from({ length: WRITERS }, (_, n) => writer(url, `m${at}w${n}`)))
  return writing
}

async function writeOnce(writing: Writing, url: string, cookie: string, name: string): Promise<boolean> {
  const sentAt = performance.now()
  const answer = await fetch(`${url}/api/projects`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ owner: 'acme', name }),
  }).catch(() => null)
  const answeredAt = performance.now()
  const text = (await answer?.text().catch(() => null)) ?? null
  if (answer === null || answer.status === 503) writing.refused += 1
  else if (answer.status !== 201) writing.wrong.push(`${name}: ${answer.status} ${text}`)
  else writing.acknowledged.push({ name, ...writtenAt(answer), sentAt, answeredAt })
  return answer?.status === 201
}

function writtenAt({ headers }: Response): { epoch: number; number: number } {
  const [, epoch, number] = /^svc-at=(\d+)\.(\d+);/m.exec(headers.getSetCookie().join('\n')) ?? []
  return { epoch: Number(epoch), number: Number(number) }
}

/**
 * What shows that two machines acknowledged at a time: a change of an older epoch behind one of a newer in the log, or sent when
 * somebody had been answered by the newer already.
 */
export function twoAtOnce(acknowledged: readonly Acknowledged[]): string[] {
  return [
    ...acknowledged.filter(isNowhere).map(({ name }) => `${name} is in no epoch`),
    ...behind(acknowledged).map(({ name, epoch }) => `${name} is of epoch ${epoch}, behind a later one`),
    ...late(acknowledged).map(
      ({ name, epoch }) => `${name} was acknowledged in epoch ${epoch} after its end`,
    ),
  ]
}

const isNowhere = ({ epoch, number }: Acknowledged) => !(epoch > 0 && number > 0)

function behind(acknowledged: readonly Acknowledged[]): Acknowledged[] {
  const sorted = acknowledged.toSorted((a, b) => a.number - b.number || a.epoch - b.epoch)
  return sorted.filter(({ epoch }, i) => epoch < (sorted[i - 1]?.epoch ?? 0))
}

function late(acknowledged: readonly Acknowledged[]): Acknowledged[] {
  const firstAnswer = new Map<number, number>()
  for (const { epoch, answeredAt } of acknowledged)
    firstAnswer.set(epoch, Math.min(answeredAt, firstAnswer.get(epoch) ?? Number.POSITIVE_INFINITY))
  const isEnded = (epoch: number, at: number) =>
    [...firstAnswer].some(([later, answeredAt]) => later > epoch && answeredAt < at)
  return acknowledged.filter(({ epoch, sentAt }) => isEnded(epoch, sentAt))
}
