import { createOperatorKey } from '../modules/api-keys/service.ts'
import type { PipelineConfig } from '../pipelines/language/model.ts'
import { seedDeployment } from './seed.ts'
import { type TestApp, testApp } from './test-app.ts'

/** A pipeline of the site at a path, or another kind of rule there. */
export type ToolRule = { path: string; method?: string } & (
  | { pipeline: PipelineConfig }
  | { rest: Record<string, unknown> }
)

export type ToolsApp = {
  app: TestApp
  /** The host of the site's alias. */
  host: string
  projectId: string
  /** A key of the project. */
  key: string
  call(method: string, path: string, options?: Parameters<TestApp['call']>[2]): Promise<Response>
}

/** A site with those rules in one set. */
export async function toolsApp(rules: ToolRule[], isPublic = true): Promise<ToolsApp> {
  const app = await testApp()
  const files = { 'index.html': 'hi' }
  const seed = { owner: 'acme', repo: 'tools', sha: 'a'.repeat(40), alias: 'production', files, isPublic }
  const { projectId, aliasHost } = await seedDeployment(app, seed)
  const key = createOperatorKey(app.ctx, { name: 'ci', repository: 'acme/tools' })
  const json = {
    ruleSet: { name: 'tools' },
    rules: rules.map(({ path, method, ...what }, order) => ({
      pathPattern: path,
      order,
      ...(method !== undefined && { method }),
      ...('rest' in what ? what.rest : { proxyType: 'pipeline', pipelineConfig: what.pipeline }),
    })),
  }
  const pushed = await app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, { key, json })
  if (pushed.status !== 200) throw new Error(await pushed.text())
  const host = aliasHost ?? ''
  return {
    app,
    host,
    projectId,
    key,
    call: (method, path, more) => app.call(method, path, { host, ...more }),
  }
}
