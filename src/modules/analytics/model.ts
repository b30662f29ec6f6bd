import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { projectView } from '../projects/model.ts'

const text = t.Optional(t.String())
const count = t.Integer()

export const analyticsQuery = t.Object({
  from: t.Optional(t.String({ description: 'ISO 8601; by default 30 days ago' })),
  to: t.Optional(t.String({ description: 'ISO 8601; by default now' })),
  interval: t.Optional(t.String({ description: 'hour or day; by default it depends on the time span' })),
  limit: text,
})
export type AnalyticsQuery = InputOf<typeof analyticsQuery>

/** The same as a table of CSV. */
export const projectAnalyticsQuery = t.Object({
  ...analyticsQuery.properties,
  format: t.Optional(t.Union([t.Literal('json'), t.Literal('csv')], { error: 'json or csv' })),
  table: t.Optional(
    t.String({ description: 'With format=csv: series, pages, referrers, statuses or missing' }),
  ),
})
export type ProjectAnalyticsQuery = InputOf<typeof projectAnalyticsQuery>

const sums = {
  views: t.Integer({ description: 'Pages that people looked at' }),
  visitors: t.Integer({ description: 'People who looked at a page, each counted once a day' }),
  requests: t.Integer({ description: 'Everything, including bots and parts of pages' }),
  bots: t.Integer({ description: 'How many of the requests came from bots and programs' }),
  bytes: t.Integer({ description: 'Of the bodies whose length was known' }),
  notFound: t.Integer({ description: 'Responses with status 404' }),
  errors: t.Integer({ description: 'Responses with status 500 and above' }),
}

/** The sums of one hour, day or project. */
const sumsView = t.Object(sums)
export type Sums = Static<typeof sumsView>

const overview = {
  from: t.String(),
  to: t.String(),
  interval: t.Union([t.Literal('hour'), t.Literal('day')]),
  totals: sumsView,
  series: t.Array(t.Object({ at: t.String({ description: 'When the hour or day (UTC) begins' }), ...sums })),
  statuses: t.Array(t.Object({ status: count, requests: count })),
  botNames: t.Array(t.Object({ name: t.String(), requests: count })),
}
const overviewView = t.Object(overview)
export type Overview = Static<typeof overviewView>

const projectAnalytics = t.Object({
  ...overview,
  pages: t.Array(t.Object({ path: t.String(), views: count })),
  referrers: t.Array(t.Object({ host: t.String(), views: count })),
  missing: t.Array(t.Object({ path: t.String(), requests: count }), {
    description: 'Paths that people requested and that gave 404',
  }),
})
export type ProjectAnalytics = Static<typeof projectAnalytics>

export const missingQuery = t.Object({
  from: analyticsQuery.properties.from,
  to: analyticsQuery.properties.to,
  limit: text,
  all: t.Optional(
    t.Union([t.Literal('true'), t.Literal('false')], {
      error: 'true or false',
      description: 'Also what production answers today',
    }),
  ),
})
export type MissingQuery = InputOf<typeof missingQuery>

const missingPage = t.Object({
  path: t.String(),
  requests: count,
  referrers: t.Array(t.Object({ from: t.String(), requests: count }), {
    description: 'The first five: a path of a site of the project, or the host of another site',
  }),
  nearest: orNull(t.String({ description: 'The page of production that was probably meant' })),
  resolved: t.Boolean({ description: 'Production would answer it other than 404 today' }),
})
export type MissingPage = Static<typeof missingPage>

const missingPages = t.Object({ missing: t.Array(missingPage) })
export const missingView = t.Union([missingPages, projectView])

export const errorsQuery = t.Object({
  from: t.Optional(t.String({ description: 'ISO 8601; by default 24 hours before `to`' })),
  to: analyticsQuery.properties.to,
  status: t.Optional(
    t.String({ description: 'A status such as 404, 4xx, 5xx (the default), or all of both' }),
  ),
  limit: text,
})
export type ErrorsQuery = InputOf<typeof errorsQuery>

const failure = t.Object({
  status: count,
  method: t.String(),
  path: t.String({ description: 'The clean address of the page, else the plain path' }),
  requests: count,
  lastAt: t.String(),
  samples: t.Array(
    t.Object({
      id: t.String(),
      at: t.String(),
      host: t.String(),
      durationMs: t.Number(),
      referrer: orNull(t.String()),
      userAgent: t.String(),
    }),
    { description: 'The newest five' },
  ),
})
const failures = t.Object({
  errors: t.Array(failure),
  total: t.Integer({ description: 'How many there are, of which `limit` are listed' }),
})
export type Failures = Static<typeof failures>
export const errorsView = t.Union([failures, projectView])

export const projectAnalyticsView = t.Union([projectAnalytics, projectView])

export const workspaceAnalyticsView = t.Object({
  ...overview,
  projects: t.Array(
    t.Object({
      projectId: t.Union([t.String(), t.Null()], {
        description: 'Null for the admin and for hosts without a site',
      }),
      owner: orNull(t.String()),
      name: orNull(t.String()),
      ...sums,
    }),
  ),
})
export type WorkspaceAnalytics = Static<typeof workspaceAnalyticsView>
