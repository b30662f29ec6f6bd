import { t } from 'elysia'
import type { Context } from '../../../context.ts'
import { aliasView as aliasModel } from '../../aliases/model.ts'
import { aliasView, findAliasByName } from '../../aliases/service.ts'
import { releaseView } from '../../releases/model.ts'
import { reportSummaryView } from '../../reports/model.ts'
import type { Delivered } from '../manifest/published.ts'
import { assetView, deploymentView, uploadNoteView } from '../model.ts'
import type { Published } from '../publish.ts'
import { routingSummaryView } from '../routing/model.ts'

/** The responses of the upload routes. contract §5.2. */

const notes = t.Array(uploadNoteView)
const ask = t.Optional(
  t.Object(
    { startPages: t.Array(t.String({ examples: ['dist/'] })) },
    {
      description:
        'With ask=true, where the alias was not moved: folders with a start page, which may be none',
    },
  ),
)
const askOf = ({ ask }: Pick<Delivered, 'ask'>) => (ask === null ? {} : { ask })

export const publishedAnswer = t.Object({
  success: t.Literal(true),
  deployment: deploymentView,
  published: t.Boolean(),
  alias: t.Optional(aliasModel),
  notes,
  routing: routingSummaryView,
  release: releaseView,
  ask,
  report: reportSummaryView,
})

/** If the named alias shows the deployment, `urls` has that alias's host, even when an older alias shows it too. */
export const toPublishedAnswer = ({
  deployment,
  published,
  alias,
  notes,
  routing,
  release,
  ask,
  report,
}: Delivered) => ({
  success: true as const,
  deployment:
    published && alias !== null
      ? { ...deployment, urls: { ...deployment.urls, alias: alias.url } }
      : deployment,
  published,
  ...(alias === null ? {} : { alias }),
  notes,
  routing,
  release,
  ...askOf({ ask }),
  report,
})

export const assetsAnswer = t.Object({
  success: t.Literal(true),
  assets: t.Array(assetView),
  deploymentId: t.String(),
  version: t.Integer(),
  published: t.Boolean(),
  notes,
  routing: routingSummaryView,
  release: releaseView,
  report: reportSummaryView,
})

export const toAssetsAnswer = ({
  assets,
  deployment,
  published,
  notes,
  routing,
  release,
  report,
}: Published) => ({
  success: true as const,
  assets: assets(),
  deploymentId: deployment.id,
  version: deployment.version,
  published,
  notes,
  routing,
  release,
  report,
})

const textOrNull = t.Union([t.String(), t.Null()])

export const zipAnswer = t.Object({
  deploymentId: t.String(),
  repository: t.String(),
  commitSha: t.String(),
  version: t.Integer(),
  branch: textOrNull,
  fileCount: t.Number(),
  totalSize: t.Number(),
  aliases: t.Array(t.String()),
  urls: t.Object({
    sha: t.String(),
    alias: textOrNull,
    preview: t.String(),
    branch: textOrNull,
  }),
  published: t.Boolean(),
  notes,
  routing: routingSummaryView,
  release: releaseView,
  ask,
  report: reportSummaryView,
})

/** `alias` is the host of the named alias, `branch` that of an alias named like the branch. */
export function toZipAnswer(
  ctx: Context,
  { projectId, deployment, published, alias, notes, routing, release, ask, report }: Published,
) {
  const { id, owner, repo, commitSha, version, branch, fileCount, totalSize, aliases, urls } = deployment
  const branchAlias = branch === null ? undefined : findAliasByName(ctx, projectId, branch)
  return {
    deploymentId: id,
    repository: `${owner}/${repo}`,
    commitSha,
    version,
    branch,
    fileCount,
    totalSize,
    aliases,
    urls: {
      sha: urls.sha,
      alias: alias?.url ?? null,
      preview: urls.preview,
      branch: branchAlias === undefined ? null : aliasView(ctx, branchAlias).url,
    },
    published,
    notes,
    routing,
    release,
    ...askOf({ ask }),
    report,
  }
}
