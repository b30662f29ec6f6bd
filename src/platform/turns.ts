/** Whose job it is. */
export type Who = { projectId: string; ownerId: string }

/** How many jobs run at once of one project and of one owner. */
export type Shares = {
  maxPerProject: number
  maxPerOwner: number
  /** Beyond this many of one owner, only the first job of a project runs. */
  sharedPerOwner: number
}

type WaitLimits = { maxWaiting: number; maxWaitingPerOwner: number }

export type TurnLimits = Shares & WaitLimits

/** Who may begin nothing more beside the `running` ones: owners, and of other owners single projects. */
export function fullBeside(
  running: readonly Who[],
  shares: Shares,
): { owners: string[]; projects: string[] } {
  const owners = new Set(running.map(({ ownerId }) => ownerId))
  return {
    owners: [...owners].filter((owner) => ofOwner(running, owner) >= shares.maxPerOwner),
    projects: running.filter((one) => roomFor(one, running, shares) === 'none').map((one) => one.projectId),
  }
}

/** Whether another job of `who` may run beside the `running` ones; `first`: it is the only one of its project. */
function roomFor(who: Who, running: readonly Who[], shares: Shares): 'first' | 'another' | 'none' {
  const ofProject = running.filter(({ projectId }) => projectId === who.projectId).length
  const owners = ofOwner(running, who.ownerId)
  if (ofProject >= shares.maxPerProject || owners >= shares.maxPerOwner) return 'none'
  if (ofProject === 0) return 'first'
  return owners < shares.sharedPerOwner ? 'another' : 'none'
}

const ofOwner = (running: readonly Who[], owner: string): number =>
  running.filter(({ ownerId }) => ownerId === owner).length

const NONE: ReadonlySet<string> = new Set()

/**
 * The jobs that wait, and which of them is next: projects take turns, and those with no job running come first. No owner can
 * take all places, however many projects they have.
 */
export class Turns<Job extends Who> {
  readonly #shares: Shares
  /** By project; the project that was served last comes last. */
  readonly #queues = new Map<string, Job[]>()
  readonly #ofOwner = new Map<string, number>()
  #length = 0

  constructor(shares: Shares) {
    this.#shares = shares
  }

  get length(): number {
    return this.#length
  }

  add(job: Job): void {
    const queue = this.#queues.get(job.projectId)
    if (queue === undefined) this.#queues.set(job.projectId, [job])
    else queue.push(job)
    this.#count(job, 1)
  }

  /** Removes a job, which is started or given up. Its project goes behind the others. */
  remove(job: Job): void {
    const left = (this.#queues.get(job.projectId) ?? []).filter((one) => one !== job)
    this.#queues.delete(job.projectId)
    if (left.length > 0) this.#queues.set(job.projectId, left)
    this.#count(job, -1)
  }

  all(): Job[] {
    return [...this.#queues.values()].flat()
  }

  /** The next job that may run beside the `running` ones, and is not of a project in `passed`. */
  next(running: readonly Who[], passed: ReadonlySet<string> = NONE): Job | undefined {
    let later: Job | undefined
    for (const [projectId, [first]] of this.#queues) {
      if (first === undefined || passed.has(projectId)) continue
      const room = roomFor(first, running, this.#shares)
      if (room === 'first') return first
      if (room === 'another') later ??= first
    }
    return later
  }

  /** Whether more wait than may. The first job of a project that has none running may always wait. */
  isCrowded({ projectId, ownerId }: Who, running: readonly Who[], limits: WaitLimits): boolean {
    const isFirst =
      this.#queues.get(projectId)?.length === 1 && !running.some((one) => one.projectId === projectId)
    const { maxWaiting, maxWaitingPerOwner } = limits
    return !isFirst && (this.#length > maxWaiting || (this.#ofOwner.get(ownerId) ?? 0) > maxWaitingPerOwner)
  }

  #count({ ownerId }: Who, by: number): void {
    this.#length += by
    const left = (this.#ofOwner.get(ownerId) ?? 0) + by
    if (left === 0) this.#ofOwner.delete(ownerId)
    else this.#ofOwner.set(ownerId, left)
  }
}
