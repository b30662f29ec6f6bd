import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { page } from '../components/html.ts'
import { queryOf, viewerOf } from '../frame/page-request.ts'
import { commandsPage } from './commands.ts'
import { findCommands } from './find-commands.ts'

/** Search and commands: as a page, and for the palette. contract 17.10. */
export const commandPages = (ctx: Context) =>
  new Elysia()
    .get('/commands', async ({ request }) => {
      const viewer = viewerOf(ctx, request)
      const query = (queryOf(request, 'q') ?? '').slice(0, MAX_QUERY)
      const commands = await findCommands({ ctx, request, ...viewer }, { query, recent: [] })
      return page(commandsPage({ user: viewer.user, query, commands }))
    })
    .get('/commands.json', async ({ request }) => {
      const viewer = viewerOf(ctx, request)
      const commands = await findCommands(
        { ctx, request, ...viewer },
        { query: queryOf(request, 'q') ?? '', place: queryOf(request, 'project'), recent: recentOf(request) },
      )
      return Response.json({ commands }, { headers: HEADERS })
    })

const MAX_QUERY = 200
const MAX_RECENT = 20

const recentOf = (request: Request): string[] =>
  new URL(request.url).searchParams.getAll('recent').slice(0, MAX_RECENT)

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
