import { parseBasePath } from '../../../domain/base-path.ts'
import { AppError, type ErrorDetail } from '../../../domain/errors.ts'
import { isIsoDate, parseDateTime } from '../../../domain/iso-time.ts'
import { isCommitSha, isOwnerName, isProjectName } from '../../../domain/names.ts'
import { EXPIRES_IN, isWebAddress, parseExpiresIn } from '../../aliases/previews/fields.ts'
import type { PreviewOrder } from '../../aliases/previews/renew.ts'
import { checkAliasName } from '../../aliases/service.ts'
import { nameField, ownerField } from '../../projects/model.ts'
import type { RuleSetChoice } from '../../rule-sets/service.ts'
import type { UploadTarget } from '../publish/access.ts'
import type { Publication } from '../publish/record.ts'
import { LeftOut } from './left-out.ts'

/** What an upload says of itself: what is published, and how its files are read. */
export type UploadOrder = Publication & { unwrap: boolean; asFiles: boolean; makesProject: boolean }

/** The fields of an upload: a form's, else the query's. Empty ones count as not given: CI jobs send them. */
export class UploadFields {
  readonly #form = new Map<string, string[]>()
  readonly #query: URLSearchParams
  /** What of the upload is not taken in, by this server or by its sender. */
  readonly leftOut = new LeftOut()
  /** The upload makes its project, as whoever sends it. */
  readonly makesProject: boolean

  constructor(query = new URLSearchParams(), { makesProject = false } = {}) {
    this.#query = query
    this.makesProject = makesProject
  }

  add(name: string, value: string): void {
    const known = this.#form.get(name)
    if (known === undefined) this.#form.set(name, [value])
    else known.push(value)
  }

  /** The first value, trimmed. */
  first(name: string): string | undefined {
    return this.all(name)[0]
  }

  all(name: string): string[] {
    return this.#given(name)
      .map((value) => value.trim())
      .filter((value) => value !== '')
  }

  /** Whether it was sent, be it empty. */
  isSent(name: string): boolean {
    return this.#given(name).length > 0
  }

  #given(name: string): string[] {
    return this.#form.get(name) ?? this.#query.getAll(name)
  }
}

const MAX_NAME = 255
const MAX_DESCRIPTION = 10_000
const MAX_TAGS = 100

/** The target of the upload: `owner` and `repo`, or `repository`. Undefined while a part of it is unknown. */
export function targetOf(fields: UploadFields): UploadTarget | undefined {
  const [owner, repo, ...more] = (fields.first('repository') ?? '').split('/')
  const target = { owner: fields.first('owner') ?? owner, repo: fields.first('repo') ?? repo }
  if (!target.owner || !target.repo || more.length > 0) return undefined
  return { owner: target.owner, repo: target.repo }
}

/** Throws `invalid` with a detail for every missing or malformed field. */
export function parseOrder(fields: UploadFields): UploadOrder {
  const check = new FieldCheck(fields)
  const order: UploadOrder = {
    ...checkTarget(check),
    commitSha: check.commitSha(),
    branch: check.text('branch', MAX_NAME),
    description: check.text('description', MAX_DESCRIPTION),
    workflowName: check.text('workflowName', MAX_NAME),
    workflowRunId: check.text('workflowRunId', MAX_NAME),
    committedAt: check.time('committedAt'),
    tags: check.tags(),
    isPublic: check.boolean('isPublic'),
    alias: check.alias('alias') ?? check.preview(),
    preview: check.previewOrder(),
    basePath: check.basePath(),
    append: check.isAppended(),
    baseSha: check.baseSha(),
    ruleSets: ruleSetsOf(fields),
    force: check.boolean('force'),
    ask: check.boolean('ask'),
    leftOut: check.leftOut(),
    unwrap: check.boolean('unwrap'),
    asFiles: check.boolean('asFiles'),
    makesProject: fields.makesProject,
  }
  check.finish()
  return order
}

function checkTarget(check: FieldCheck): UploadTarget {
  const { fields } = check
  const repository = fields.first('repository')
  const target = targetOf(fields)
  if (target === undefined) {
    if (repository !== undefined) check.fail('repository', 'must be owner/repo')
    for (const name of ['owner', 'repo'])
      if (repository === undefined && fields.first(name) === undefined) check.fail(name, 'is missing')
    return { owner: '', repo: '' }
  }
  if (!isOwnerName(target.owner)) check.fail('owner', String(ownerField['error']))
  if (!isProjectName(target.repo)) check.fail('repo', String(nameField['error']))
  if (repository !== undefined && !isSameTarget(repository, target))
    check.fail('repository', 'names a different project than owner and repo')
  return target
}

const isSameTarget = (repository: string, { owner, repo }: UploadTarget): boolean =>
  repository.toLowerCase() === `${owner}/${repo}`.toLowerCase()

function ruleSetsOf(fields: UploadFields): RuleSetChoice {
  const listed = (...names: string[]) => names.flatMap((name) => splitList(fields.all(name)))
  return {
    names: listed('proxyRuleSetName', 'proxyRuleSetNames'),
    ids: listed('proxyRuleSetId', 'proxyRuleSetIds'),
  }
}

/** Repeated or comma-separated. */
const splitList = (values: readonly string[]): string[] =>
  values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')

/** Reads fields one by one and collects all errors. */
class FieldCheck {
  readonly fields: UploadFields
  readonly #details: ErrorDetail[] = []

  constructor(fields: UploadFields) {
    this.fields = fields
  }

  fail(path: string, message: string): null {
    this.#details.push({ path, message })
    return null
  }

  finish(): void {
    const [first] = this.#details
    if (first !== undefined)
      throw new AppError('invalid', `${first.path}: ${first.message}`, { details: this.#details })
  }

  commitSha(): string {
    if (this.fields.first('commitSha') === undefined) this.fail('commitSha', 'is missing')
    return this.#sha('commitSha') ?? ''
  }

  baseSha(): string | null {
    return this.#sha('baseSha')
  }

  #sha(name: string): string | null {
    const sha = this.fields.first(name)?.toLowerCase()
    if (sha !== undefined && !isCommitSha(sha)) return this.fail(name, 'must be 7 to 64 hexadecimal digits')
    return sha ?? null
  }

  text(name: string, maxLength: number): string | null {
    const value = this.fields.first(name) ?? null
    if (value === null) return null
    if (value.length > maxLength) return this.fail(name, `must be at most ${maxLength} characters`)
    return value.includes('\0') || !value.isWellFormed() ? this.fail(name, 'must be plain text') : value
  }

  time(name: string): number | null {
    const value = this.fields.first(name)
    if (value === undefined) return null
    const at = isIsoDate(value) ? Date.parse(value) : parseDateTime(value)
    return at ?? this.fail(name, 'must be an ISO 8601 time, such as 2026-11-20T12:00:00Z')
  }

  boolean(name: string): boolean {
    const value = this.fields.first(name)?.toLowerCase() ?? 'false'
    if (value !== 'true' && value !== 'false') this.fail(name, 'must be true or false')
    return value === 'true'
  }

  /** Exactly these, and not empty: whoever means to keep files must not lose them by a spelling. contract 16 §1. */
  isAppended(): boolean {
    const value = this.fields.first('append') ?? (this.fields.isSent('append') ? '' : 'false')
    if (value !== 'true' && value !== 'false') this.fail('append', 'must be true or false')
    return value === 'true'
  }

  /** What is found later is in it too. */
  leftOut(): LeftOut {
    for (const path of this.fields.all('leftOut')) this.fields.leftOut.add(path)
    return this.fields.leftOut
  }

  tags(): string[] | null {
    const tags = splitList(this.fields.all('tags'))
    if (tags.length === 0) return null
    if (tags.length > MAX_TAGS || tags.some((tag) => tag.length > MAX_NAME))
      return this.fail('tags', `must be at most ${MAX_TAGS} tags of at most ${MAX_NAME} characters`)
    return tags
  }

  alias(field: 'alias' | 'preview'): string | null {
    const name = this.fields.first(field)
    if (name === undefined) return null
    try {
      checkAliasName(name)
      return name
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return this.fail(field, error.message)
    }
  }

  /** The name of a preview, which `production` never is. */
  preview(): string | null {
    const name = this.alias('preview')
    return name?.toLowerCase() === 'production' ? this.fail('preview', 'production is no preview') : name
  }

  /** What is said of a preview, which must be named: an alias without an end has no use for it. contract 16 §2. */
  previewOrder(): PreviewOrder {
    const isNamed = this.fields.first('preview') !== undefined
    if (isNamed && this.fields.first('alias') !== undefined)
      this.fail('preview', 'names a preview: leave out alias')
    for (const name of isNamed ? [] : ['expiresIn', 'pullRequest'])
      if (this.fields.first(name) !== undefined)
        this.fail(name, 'belongs to a preview: name it in the field preview, or leave this out')
    const pullRequest = this.wholeNumber('pullRequest')
    return { isNamed, expiresIn: this.duration('expiresIn'), pullRequest, pullRequestUrl: this.webAddress() }
  }

  duration(name: string): number | null {
    const value = this.fields.first(name)
    if (value === undefined) return null
    return parseExpiresIn(value) ?? this.fail(name, `must be ${EXPIRES_IN}`)
  }

  wholeNumber(name: string): number | null {
    const value = this.fields.first(name)
    if (value === undefined) return null
    return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : this.fail(name, 'must be a whole number above 0')
  }

  webAddress(): string | null {
    const value = this.fields.first('pullRequestUrl')
    if (value === undefined) return null
    if (!isWebAddress(value)) return this.fail('pullRequestUrl', 'must be an http or https address')
    if (this.fields.first('pullRequest') === undefined)
      return this.fail('pullRequestUrl', 'needs the number in pullRequest')
    return value
  }

  basePath(): string | null {
    const given = this.fields.first('basePath')
    if (given === undefined) return null
    const result = parseBasePath(given)
    return 'flaw' in result ? this.fail('basePath', result.flaw) : result.basePath
  }
}
