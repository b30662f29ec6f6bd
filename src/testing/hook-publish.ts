import type { HookApp } from './hook-app.ts'

/** Publishes one page to the project of the app, by a form with these fields. */
export function publishTo({ app }: HookApp, fields: Record<string, string>): Promise<Response> {
  const body = new FormData()
  for (const [name, value] of Object.entries({ repository: 'acme/docs', ...fields })) body.append(name, value)
  body.append('files', new File([JSON.stringify(fields)], 'index.html'))
  return app.call('POST', '/api/deployments', { as: 'root@example.com', body })
}
