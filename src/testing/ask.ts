import type { CallOptions, TestApp } from './test-app.ts'

type Answer = { status: number; body: Record<string, unknown> }

/** An unused id. */
export const NO_ID = '01900000-0000-7000-8000-000000000000'

/** Calls the API and parses the JSON response; `{}` if it is empty. */
export async function ask(
  app: TestApp,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await app.call(method, path, options)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}
