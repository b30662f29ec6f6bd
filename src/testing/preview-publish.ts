import { ask } from './ask.ts'
import type { TestApp } from './test-app.ts'

type Answer = Awaited<ReturnType<typeof ask>>

/** A SHA that no other call returned. */
export const nextSha = (() => {
  let count = 0
  return (): string => {
    count += 1
    return `c0ffee${String(count).padStart(34, '0')}`
  }
})()

/** Publishes one page to acme/docs, by a form with these fields. */
export function publishForm(
  app: TestApp,
  key: string,
  fields: Record<string, string>,
  page?: string,
): Promise<Answer> {
  const body = new FormData()
  const all = { repository: 'acme/docs', commitSha: nextSha(), ...fields }
  for (const [name, value] of Object.entries(all)) body.append(name, value)
  body.append('files', new File([page ?? all.commitSha], 'index.html'))
  return ask(app, 'POST', '/api/deployments', { key, body })
}
