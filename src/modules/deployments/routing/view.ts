import type { Static } from 'elysia'
import type { Context } from '../../../context.ts'
import type { HeaderBlock } from '../../../domain/routing/headers.ts'
import type { Part } from '../../../domain/routing/placeholders.ts'
import type { RedirectLine } from '../../../domain/routing/redirects.ts'
import type { Grant } from '../../auth/authorize.ts'
import { requireDeployment } from '../service.ts'
import type { routingView } from './model.ts'
import { NO_ROUTING, readCompiled } from './stored.ts'

export type RoutingView = Static<typeof routingView>

/** The routing that is in force in a folder of a deployment, by default the one that its host serves. contract 13 §7. */
export function getRouting(ctx: Context, grant: Grant, id: string, folder: string | undefined): RoutingView {
  const { basePath } = requireDeployment(ctx.db.orm, grant, id)
  const shown = folder === undefined ? basePath : asFolder(folder)
  const { lines, blocks, problems } = readCompiled(ctx, id, shown) ?? NO_ROUTING
  return { folder: shown, redirects: lines.map(lineView), headers: blocks.map(blockView), problems }
}

/** `''`, or such as `/dist`, whether slashes stand around it or not. */
const asFolder = (text: string): string => {
  const inner = text.replace(/^\/+|\/+$/g, '')
  return inner === '' ? '' : `/${inner}`
}

function lineView({ line, source, query, target, status, force, conditions }: RedirectLine) {
  const pairs = Object.entries(query).map(([key, value]): [string, string] => [
    key,
    'name' in value ? `:${value.name}` : value.literal,
  ])
  return {
    line,
    source: source.text,
    query: Object.fromEntries(pairs),
    target: target?.text ?? null,
    status,
    force,
    conditions,
  }
}

const blockView = ({ line, source, set, unset }: HeaderBlock) => ({
  line,
  path: source.text,
  set: set.map(({ name, value }) => ({ name, value: value.map(written).join('') })),
  unset: unset.map(({ name }) => name),
})

const written = (part: Part): string => (typeof part === 'string' ? part : `:${part.name}`)
