import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf } from './content.ts'
import type { Lab } from './lab.ts'
import { api, PROJECT, publish, type Svc } from './svc.ts'

type Step = { handlerType: string; config: Record<string, unknown> }

/** Publishes a page, and pushes rules of one step each, by their paths. They answer every method. The project's id. */
export async function pushPipelines(
  lab: Lab,
  svc: Svc,
  steps: Readonly<Record<string, Step>>,
  schemas: readonly unknown[],
): Promise<string> {
  const site = lab.folder('page')
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>page</title>')
  await publish(svc, site, commitOf(1))
  const { id } = (await api(svc, 'GET', `/api/projects/${PROJECT}`)) as { id: string }
  const rules = Object.entries(steps).map(([pathPattern, step]) => ({
    pathPattern,
    pipelineConfig: { steps: [step] },
  }))
  const push = { ruleSet: { name: 'bench' }, rules, schemas }
  await api(svc, 'PUT', `/api/proxy-rule-sets/project/${id}/sync`, JSON.stringify(push))
  return id
}

/** Posts JSON to the site; an answer over 299 is an error with its text. */
export async function postSite(svc: Svc, path: string, json: unknown): Promise<unknown> {
  const response = await fetch(`${svc.url}${path}`, {
    method: 'POST',
    headers: { host: svc.host, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
