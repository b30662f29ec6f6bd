import { inTransaction } from '../../db/open.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../domain/cookies.ts'
import { AppError } from '../../domain/errors.ts'
import { GLOBAL_ROLES, type GlobalRole, PROJECT_ROLES } from '../../domain/roles.ts'
import { operatorGrant } from '../../modules/auth/authorize.ts'
import { openSession } from '../../modules/auth/sessions.ts'
import { grantRole } from '../../modules/members/permissions.ts'
import { changeOwner, isOwner } from '../../modules/members/service.ts'
import { listRecords } from '../../modules/records/manage.ts'
import { createRecord } from '../../modules/records/service.ts'
import { listSchedules } from '../../modules/schedules/service.ts'
import { findSchemaOf } from '../../modules/schemas/service.ts'
import { putSecret } from '../../modules/secrets/service.ts'
import { changeUser, createAccount } from '../../modules/users/service.ts'
import { sandboxFor } from '../../pipelines/sandbox/sandbox-for.ts'
import { waitForWork } from '../../pipelines/track-work.ts'
import type { CompiledRule } from '../../rules/push.ts'
import { type FunctionTest, mismatch, type RuleTest } from '../../rules/test-file.ts'
import { answerSchedule } from '../../site/run-schedule.ts'
import { addSite, type Lab, type LabRequest } from '../lab.ts'
import type { LoadedSet } from './settings.ts'
import { outboundWith } from './stand-in-outbound.ts'
import { TestFailure } from './test-failure.ts'
import { type BytesAt, formOf, judgeFiles, storeFiles } from './test-uploads.ts'

/** From highest to lowest, as the message names them. */
const ROLES = PROJECT_ROLES.toReversed()

let siteCount = 0

/** Runs one case on a site of its own; null when all is as expected, else the first thing that is not. */
export async function runRuleTest(
  lab: Lab,
  { compiled }: LoadedSet,
  rule: CompiledRule,
  test: RuleTest,
  bytesAt: BytesAt,
): Promise<string | null> {
  const { outbound } = lab.ctx
  lab.ctx.outbound = outboundWith(outbound, test.outside)
  try {
    siteCount += 1
    const repo = `site-${siteCount}`
    const { projectId, host } = await addSite(lab, repo)
    await lab.api('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, compiled.push)
    const grant = operatorGrant(projectId)
    for (const [name, value] of Object.entries(test.secrets)) putSecret(lab.ctx, grant, name, String(value))
    for (const [schema, records] of Object.entries(test.records))
      for (const record of records) await createRecord(lab.ctx, schemaNamed(lab, projectId, schema), record)
    await storeFiles(lab, { id: projectId, repo }, test.files, bytesAt)
    const mails: unknown[] = []
    lab.onMail = (mail) => mails.push(mail)
    const answer =
      test.schedule === null
        ? await answerOf(lab, { projectId, host, bytesAt }, rule, test)
        : await scheduledAnswer(lab, projectId, test.schedule)
    const failure = await judgeAnswer(answer, test.expect)
    await postStepsOf(lab)
    return (
      failure ??
      (await judgeRecords(lab, projectId, test.expect.records ?? {})) ??
      judgeFiles(lab, projectId, test.expect) ??
      judgeMails(mails, test.expect.mails)
    )
  } catch (error) {
    if (error instanceof AppError || error instanceof TestFailure) return error.message
    throw error
  } finally {
    lab.ctx.outbound = outbound
  }
}

async function answerOf(
  lab: Lab,
  { projectId, host, bytesAt }: { projectId: string; host: string; bytesAt: BytesAt },
  rule: CompiledRule,
  test: RuleTest,
): Promise<Response> {
  const cookie = test.user === null ? null : await signIn(lab, projectId, test.user)
  const { method, path, init } = requestOf(rule, test.request, cookie, bytesAt)
  return lab.fetch(host, method, path, init)
}

async function scheduledAnswer({ ctx }: Lab, projectId: string, name: string): Promise<Response> {
  const found = listSchedules(ctx, operatorGrant(projectId)).find((one) => one.name === name)
  if (found === undefined) throw new TestFailure(`the set has no schedule ${name}`)
  return (await answerSchedule(ctx, { id: found.id, firedAt: ctx.now() })).response
}

/** The same for one case of code: the sandbox is the server's own. */
export async function runFunctionTest(lab: Lab, code: string, test: FunctionTest): Promise<string | null> {
  const input = { user: null, request: {}, steps: {}, project: {}, deployment: {}, ...test.input }
  const result = await sandboxFor(lab.ctx).run(
    { projectId: 'test', ownerId: 'test' },
    {
      code,
      input: JSON.stringify(input),
      timeoutMs: 5000,
      keys: [Buffer.alloc(32, 1).toString('base64')],
    },
  )
  if (test.throws !== undefined) {
    if (result.ok) return `gave back ${result.json}, and was to throw`
    return result.message.includes(test.throws) ? null : `threw ${result.message}, not ${test.throws}`
  }
  if (!result.ok) return `${result.kind}: ${result.message}`
  return mismatch(test.returns ?? null, JSON.parse(result.json), 'the result')
}

function schemaNamed(lab: Lab, projectId: string, name: string) {
  const schema = findSchemaOf(lab.ctx, projectId, `$schema:${name}`)
  if (schema === undefined) throw new TestFailure(`the set has no schema ${name}`)
  return schema
}

/** A session of somebody who holds the role on the project, as a `Cookie` header. */
export async function signIn(
  lab: Lab,
  projectId: string,
  user: NonNullable<RuleTest['user']>,
): Promise<string> {
  const { ctx } = lab
  const role = ROLES.find((one) => one === user.role)
  const globalRole = GLOBAL_ROLES.find((one) => one === (user.globalRole ?? 'member'))
  if (user.role !== undefined && role === undefined)
    throw new TestFailure(`user.role is one of ${ROLES.join(', ')}`)
  if (globalRole === undefined) throw new TestFailure(`user.globalRole is one of ${GLOBAL_ROLES.join(', ')}`)
  const id = await accountOf(lab, user.email.toLowerCase(), globalRole)
  if (role === 'owner') makeOwner(lab, projectId, id)
  else if (role !== undefined) grantRole(ctx, operatorGrant(projectId), { userId: id, role })
  const { tokens } = inTransaction(ctx.db, (tx) =>
    openSession(ctx, tx, id, { ip: '127.0.0.1', userAgent: 'test' }),
  )
  return `${ACCESS_COOKIE}=${tokens.access}; ${REFRESH_COOKIE}=${tokens.refresh}`
}

const accounts = new WeakMap<Lab['ctx'], Map<string, string>>()

/** One account for each email, with the global role that is asked for now: the service has no two of one email. */
async function accountOf({ ctx }: Lab, email: string, role: GlobalRole): Promise<string> {
  const known = accounts.get(ctx) ?? new Map<string, string>()
  accounts.set(ctx, known)
  const id =
    known.get(email) ??
    (await createAccount(ctx, { email, password: 'only in tests', role }, { kind: 'operator' })).id
  known.set(email, id)
  changeUser(ctx, operatorGrant(), id, { role })
  return id
}

function makeOwner({ ctx }: Lab, projectId: string, userId: string): void {
  inTransaction(ctx.db, (tx) => {
    if (!isOwner(tx, projectId, userId)) changeOwner(ctx, tx, projectId, userId)
  })
}

function requestOf(
  rule: CompiledRule,
  request: RuleTest['request'],
  cookie: string | null,
  bytesAt: BytesAt,
): { method: string; path: string; init: LabRequest } {
  const isPlain = !rule.pathPattern.includes('*')
  const path = request.path ?? (isPlain ? rule.pathPattern : null)
  if (path === null) throw new TestFailure('request.path is required, as the pattern of the rule has a *')
  const search = new URLSearchParams(
    Object.entries(request.query ?? {}).map(([key, value]) => [key, String(value)]),
  ).toString()
  const content = contentOf(request, bytesAt)
  return {
    method: (request.method ?? rule.method ?? rule.methods?.[0] ?? 'GET').toUpperCase(),
    path: search === '' ? path : `${path}?${search}`,
    init: {
      headers: {
        ...(cookie === null ? {} : { cookie, 'sec-fetch-site': 'same-origin' }),
        ...content.headers,
        ...Object.fromEntries(
          Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
        ),
      },
      body: content.body,
    },
  }
}

function contentOf({ json, form, multipart, body }: RuleTest['request'], bytesAt: BytesAt): LabRequest {
  if (json !== undefined)
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
  if (form !== undefined) {
    const fields = Object.entries(form).map(([key, value]) => [key, String(value)])
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    }
  }
  return { body: multipart === undefined ? body : formOf(multipart, bytesAt) }
}

async function judgeAnswer(answer: Response, expected: RuleTest['expect']): Promise<string | null> {
  const text = await answer.text()
  const body = bodyOf(answer, text)
  if (expected.status !== undefined && answer.status !== expected.status)
    return `answered ${answer.status}, not ${expected.status}: ${text.slice(0, 500)}`
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const given = answer.headers.get(name)
    if (given !== String(value)) return `the header ${name} is ${given ?? 'missing'}, not ${value}`
  }
  for (const part of [expected.bodyContains ?? []].flat())
    if (!text.includes(part)) return `the body does not hold ${JSON.stringify(part)}: ${text.slice(0, 500)}`
  return expected.body === undefined ? null : mismatch(expected.body, body)
}

function bodyOf(answer: Response, text: string): unknown {
  if (!(answer.headers.get('content-type') ?? '').includes('json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** They begin when the answer is on its way; what they do is part of what is expected. */
async function postStepsOf({ ctx }: Lab): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await waitForWork(ctx, 60_000)
}

function judgeMails(mails: readonly unknown[], expected: RuleTest['expect']['mails']): string | null {
  if (expected === undefined) return null
  if (typeof expected !== 'number') return mismatch(expected, mails, 'mails')
  return mails.length === expected ? null : `${mails.length} mails were sent, not ${expected}`
}

async function judgeRecords(
  lab: Lab,
  projectId: string,
  expected: Record<string, number | unknown[]>,
): Promise<string | null> {
  for (const [name, wanted] of Object.entries(expected)) {
    const schema = schemaNamed(lab, projectId, name)
    const { data, pagination } = await listRecords(
      lab.ctx,
      operatorGrant(projectId),
      schema.id,
      { limit: '100' },
      [],
    )
    const count = typeof wanted === 'number' ? wanted : wanted.length
    if (pagination.total !== count) return `${name} has ${pagination.total} records, not ${count}`
    if (typeof wanted === 'number') continue
    const left: unknown[] = [...data]
    for (const one of wanted) {
      const index = left.findIndex((record) => mismatch(one, record) === null)
      if (index === -1)
        return `${name} has no record ${JSON.stringify(one)}: ${JSON.stringify(data).slice(0, 500)}`
      left.splice(index, 1)
    }
  }
  return null
}
