import { inTransaction } from '../db/open.ts'
import { deployments } from '../db/schema.ts'
import { blobs } from '../db/schema-contents.ts'
import { claimLabel, claimVersionLabels } from '../modules/aliases/host-labels.ts'
import { pointAlias } from '../modules/aliases/service.ts'
import { openStage } from '../modules/deployments/blob-queries.ts'
import { insertAssets } from '../modules/deployments/publish/queries.ts'
import { compileRouting } from '../modules/deployments/routing/compile.ts'
import { findDeployment } from '../modules/deployments/service.ts'
import { insertWaiting } from '../modules/deployments/variants/queries.ts'
import { scheduleVariants, waitForVariants } from '../modules/deployments/variants.ts'
import { addProject, type Project } from '../modules/projects/service.ts'
import { beginReport, shownBefore } from '../modules/reports/service.ts'
import type { TestApp } from './test-app.ts'

export const SEED_OWNER = 'seed-owner@example.com'

type Seed = {
  owner: string
  repo: string
  sha: string
  files: Record<string, string | Uint8Array>
  alias?: string
  basePath?: string
  branch?: string
  /** For a project created by this; defaults to true. */
  isPublic?: boolean
  /** Creates the compressed variants and waits for them. */
  withVariants?: boolean
}

/** A site for tests that need any site. */
export const DOCS: Seed = {
  owner: 'acme',
  repo: 'docs',
  sha: 'a'.repeat(40),
  files: { 'index.html': 'x' },
}

/** `host` and `aliasHost` are the names without scheme and port. */
export type Seeded = {
  projectId: string
  deploymentId: string
  host: string
  aliasId: string | null
  aliasHost: string | null
}

const operator = { kind: 'operator' } as const

/** Publishes a complete deployment, as an upload would, and creates the project if needed. */
export async function seedDeployment(app: TestApp, seed: Seed): Promise<Seeded> {
  const { ctx } = app
  const project = await projectOf(app, seed)
  const stage = openStage(ctx)
  const files: { path: string; sha256: string; sizeBytes: number }[] = []
  for (const [path, content] of Object.entries(seed.files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    files.push({ path, ...(await stage.add(bytes)) })
  }
  const stored = await stage.seal()
  const seeded = inTransaction(ctx.db, (tx): Seeded => {
    const id = ctx.newId()
    for (const blob of stored) tx.insert(blobs).values(blob).onConflictDoNothing().run()
    tx.insert(deployments)
      .values({
        id,
        projectId: project.id,
        commitSha: seed.sha,
        branch: seed.branch ?? null,
        basePath: seed.basePath ?? '',
        fileCount: files.length,
        totalSize: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        createdBy: 'operator',
        createdAt: ctx.now(),
        updatedAt: ctx.now(),
      })
      .run()
    insertAssets(
      ctx.db,
      id,
      files.map((file) => ({ ...file, id: ctx.newId() })),
    )
    compileRouting(ctx, id)
    insertWaiting(ctx.db, [id])
    const shown = shownBefore(ctx, tx, project.id, seed.alias ?? null)
    beginReport(ctx, tx, { id }, { shown, leftOut: null })
    const names = { owner: project.owner, repo: project.name }
    const number = findDeployment(tx, id)?.number ?? 0
    const version = { id, commitSha: seed.sha, version: 1, number }
    const { sha: label } = claimVersionLabels(ctx, tx, project, version, undefined)
    const hostOf = (label: string) => `${label}.${ctx.config.baseDomain}`
    const result = { projectId: project.id, deploymentId: id, host: hostOf(label) }
    if (seed.alias === undefined) return { ...result, aliasId: null, aliasHost: null }
    const { alias } = pointAlias(ctx, tx, operator, {
      project,
      name: seed.alias,
      deployment: version,
      basePath: seed.basePath ?? '',
    })
    const aliasLabel = claimLabel(ctx, tx, { ref: seed.alias, ...names }, { aliasId: alias.id })
    return { ...result, aliasId: alias.id, aliasHost: hostOf(aliasLabel) }
  })
  stage.release()
  if (seed.withVariants === true) {
    scheduleVariants(ctx, seeded.deploymentId)
    await waitForVariants(ctx)
  }
  return seeded
}

async function projectOf(app: TestApp, { owner, repo, isPublic = true }: Seed): Promise<Project> {
  const { ctx } = app
  const known = ctx.db.sqlite
    .query<{ id: string; owner: string; name: string }, [string, string]>(
      'SELECT id, owner, name FROM projects WHERE owner = ? AND name = ?',
    )
    .get(owner, repo)
  if (known !== null) return known as Project
  const ownerId =
    ctx.db.sqlite.query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?').get(SEED_OWNER)
      ?.id ?? (await app.addUser(SEED_OWNER, 'user'))
  return inTransaction(ctx.db, (tx) =>
    addProject(ctx, tx, operator, { owner, name: repo, isPublic }, ownerId),
  )
}
