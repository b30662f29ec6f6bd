import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { getAlias, listAliases } from '../../src/modules/aliases/service.ts'
import { authorize, type Grant } from '../../src/modules/auth/authorize.ts'
import { type Explainer, explainAddress, parseUrl } from '../../src/modules/explain/service.ts'
import { aboutProject } from '../../src/modules/projects/service.ts'
import { getRule } from '../../src/modules/proxy-rules/service.ts'
import { page } from '../components/html.ts'
import { marked, UNREAD_BODY } from '../frame/form.ts'
import { decidedForm, queryOf } from '../frame/page-request.ts'
import { answerForm, lookAt } from '../frame/project-request.ts'
import { type RuleTestPageProps, ruleTestPage } from './rule-test.ts'
import type { RuleValues } from './rule-values.ts'
import { methodsOf } from './rule-words.ts'

/** Shows what would answer a request and why, without sending it. */
export const ruleTestPages = (ctx: Context, explainer: Explainer) =>
  new Elysia()
    .get('/projects/:id/rules/test', ({ request, params }) => showTest(ctx, request, params.id, {}))
    .post(
      '/projects/:id/rules/test',
      ({ request, params }) => submitTest(ctx, explainer, request, params.id),
      UNREAD_BODY,
    )

type Shown = Pick<RuleTestPageProps, 'error' | 'explained'> & { values?: RuleValues }

function showTest(ctx: Context, request: Request, id: string, shown: Shown): Response {
  const looking = lookAt(ctx, request, id)
  const query = { projectId: id, limit: '100', sort: 'name', order: 'asc' }
  const aliases = listAliases(ctx, looking.grant, query).data
  const values = shown.values ?? {
    path: '/',
    method: 'GET',
    alias: aliases.find(({ name }) => name === 'production')?.id ?? aliases[0]?.id ?? '',
    ...sampleFor(ctx, request, id),
  }
  return page(ruleTestPage({ ...looking, aliases, ...shown, values }), shown.error?.status)
}

/** A request that matches the rule of `?rule=`. */
function sampleFor(ctx: Context, request: Request, id: string): RuleValues {
  const ruleId = queryOf(request, 'rule')
  if (ruleId === undefined) return {}
  const { grant } = lookAt(ctx, request, id)
  const rule = getRule(ctx, grant, ruleId)
  const path = rule.pathPattern.replaceAll('*', 'example')
  return {
    path: path.startsWith('/') ? path : `/${path}`,
    method: methodsOf(rule)[0] ?? 'GET',
    ...(rule.aliasId === null ? {} : { alias: rule.aliasId }),
  }
}

async function submitTest(
  ctx: Context,
  explainer: Explainer,
  request: Request,
  id: string,
): Promise<Response> {
  const { grant, form } = await decidedForm(ctx, request, (caller) =>
    authorize(ctx, caller, 'project:read', aboutProject(ctx, id), false),
  )
  const values = form.all()
  return answerForm(
    async () => {
      const url = addressOf(ctx, explainer, grant, values)
      const explained = await explainAddress(ctx, explainer, grant, {
        url: url.href,
        method: methodOf(values),
        headers: headersOf(values),
        as: values['as'] === 'me' ? 'me' : 'anonymous',
      })
      return showTest(ctx, request, id, { values, explained })
    },
    (error) => showTest(ctx, request, id, { values, error }),
  )
}

/** Throws 400 unless the address belongs to this project. */
function addressOf(ctx: Context, explainer: Explainer, grant: Grant, values: RuleValues): URL {
  const host = values['host']?.trim() ?? ''
  const path = values['path']?.trim() ?? ''
  if (!path.startsWith('/')) throw refused('path', 'Enter a path that begins with /, such as /api/users')
  const url = parseUrl(`${host === '' ? originOf(ctx, grant, values) : originOfHost(ctx, host)}${path}`)
  if (url !== null && explainer.projectOf(url) === grant.projectId) return url
  throw refused(host === '' ? 'alias' : 'host', 'No site of this project has this address')
}

function originOf(ctx: Context, grant: Grant, values: RuleValues): string {
  const aliasId = values['alias'] ?? ''
  if (aliasId === '') throw refused('alias', 'Choose an alias, or enter a host')
  return new URL(getAlias(ctx, grant, aliasId).url).origin
}

/** Adds the scheme of the sites here if the host has none. */
const originOfHost = (ctx: Context, host: string): string =>
  /^https?:\/\//i.test(host) ? host.replace(/\/+$/, '') : `${new URL(ctx.adminUrl()).protocol}//${host}`

function methodOf(values: RuleValues): string {
  const method = values['method']?.trim() || 'GET'
  if (!/^[A-Za-z]{1,20}$/.test(method)) throw refused('method', 'Enter an HTTP method, such as POST')
  return method
}

/** One header per line: `name: value`. */
function headersOf(values: RuleValues): Headers {
  const headers = new Headers({ accept: 'text/html' })
  const lines = (values['headers'] ?? '').split(/\r?\n/).filter((line) => line.trim() !== '')
  for (const line of lines) {
    const colon = line.indexOf(':')
    try {
      if (colon < 1) throw new TypeError('no colon')
      headers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
    } catch {
      throw refused('headers', `“${line}” is not a header. Write it as name: value`)
    }
  }
  return headers
}

const refused = (path: string, message: string): AppError => marked({ path, message })
