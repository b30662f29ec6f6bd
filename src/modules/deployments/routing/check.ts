import type { Context } from '../../../context.ts'
import type { CompiledRouting } from '../../../domain/routing/compile.ts'
import { NOT_ALLOWED } from '../../../platform/outbound/proxy-host-rule.ts'
import { compileAgain, type ProxyHostRule } from './compile.ts'
import { type CompiledRow, listCompiled, listRoutedAfter } from './queries.ts'

const PAGE = 100

/** Compiles the routing of every deployment again, and yields a sentence for each whose stored form differs. */
export function* findRoutingProblems(ctx: Context): Generator<string, void, undefined> {
  for (let after = ''; ; ) {
    const page = listRoutedAfter(ctx.db, after, PAGE)
    for (const { id, commitSha } of page)
      if (!isAsCompiled(ctx, id))
        yield `the routing of deployment ${id} (${commitSha}) is not what its _redirects and _headers say`
    const last = page.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/** Unreadable contents are another problem, which is told of where contents are read. */
function isAsCompiled(ctx: Context, id: string): boolean {
  const stored = listCompiled(ctx.db, id)
  try {
    const again = compileAgain(ctx, id, hostsOf(stored))
    return asText(again) === asText(stored)
  } catch {
    return true
  }
}

/** What is in force and what was refused; another version may give the reasons in other words. */
const asText = (rows: readonly CompiledRow[]): string =>
  JSON.stringify(rows.map(({ folder, compiled }) => [folder, withoutReasons(compiled)]).toSorted())

function withoutReasons(compiled: string): string {
  const { problems, ...rest } = JSON.parse(compiled) as Partial<CompiledRouting>
  return JSON.stringify({ ...rest, problems: problems?.map(({ file, line }) => [file, line]) })
}

/** This process may have other `PROXY_ALLOWED_TARGETS` than the server: the hosts that it allowed are allowed. */
function hostsOf(stored: readonly CompiledRow[]): ProxyHostRule {
  const origins = stored.flatMap(({ compiled }) =>
    ((JSON.parse(compiled) as Partial<CompiledRouting>).lines ?? []).map(({ target }) => target?.origin),
  )
  const allowed = new Set(origins)
  return (url) => (allowed.has(url.origin) ? null : NOT_ALLOWED)
}
