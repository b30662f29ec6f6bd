/** Whose job it is. */
export type Who = { projectId: string; ownerId: string }

export type TurnLimits = {
  maxPerProject: number
  maxPerOwner: number
  /** Beyond this many of one owner, only the first job of a project runs. */
  sharedPerOwner: number
  maxWaiting: number
  maxWaitingPerOwner: number
}

/**
 * The jobs that wait, and which of them is next: projects take turns, and those with no job running come first. No owner can
 * take all processes, however many projects they have. contract 14.1.
 */
export class Turns<Job extends Who> {
  readonly #limits: TurnLimits
  /** By project; the project that was served last comes last. */
  readonly #queues = new Map<string, Job[]>()
  readonly #ofOwner = new Map<string, number>()
  #length = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
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
  next(running: readonly Who[], passed: ReadonlySet<string>): Job | undefined {
    const { maxPerProject, maxPerOwner, sharedPerOwner } = this.#limits
    let later: Job | undefined
    for (const [projectId, [first]] of this.#queues) {
      if (first === undefined || passed.has(projectId)) continue
      const ofProject = running.filter((one) => one.projectId === projectId).length
      const ofOwner = running.filter(({ ownerId }) => ownerId === first.ownerId).length
      if (ofProject >= maxPerProject || ofOwner >= maxPerOwner) continue
      if (ofProject === 0) return first
      if (ofOwner < sharedPerOwner) later ??= first
    }
    return later
  }

  /** Whether more wait than may. The first job of a project that has none running may always wait. */
  isCrowded({ projectId, ownerId }: Who, running: readonly Who[]): boolean {
    const isFirst =
      this.#queues.get(projectId)?.length === 1 && !running.some((one) => one.projectId === projectId)
    const { maxWaiting, maxWaitingPerOwner } = this.#limits
    return !isFirst && (this.#length > maxWaiting || (this.#ofOwner.get(ownerId) ?? 0) > maxWaitingPerOwner)
  }

  #count({ ownerId }: Who, by: number): void {
    this.#length += by
    const left = (this.#ofOwner.get(ownerId) ?? 0) + by
    if (left === 0) this.#ofOwner.delete(ownerId)
    else this.#ofOwner.set(ownerId, left)
  }
}
