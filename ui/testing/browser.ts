import { type CallOptions, PASSWORD, type TestApp } from '../../src/testing/test-app.ts'
import { PAGE_ID } from '../components/html.ts'

export const ADMIN = 'ada@example.com'

/** The headers that a browser sends when it opens a page or posts one of our forms. */
export type Browser = {
  open(path: string, options?: CallOptions): Promise<Response>
  submit(path: string, fields: Record<string, string>, options?: CallOptions): Promise<Response>
}

export function browserOf(app: TestApp): Browser {
  return {
    open: (path, options = {}) =>
      app.call('GET', path, { ...options, headers: { accept: 'text/html,*/*;q=0.8', ...options.headers } }),
    submit: (path, fields, options = {}) =>
      app.call('POST', path, {
        ...options,
        body: new URLSearchParams(fields).toString(),
        headers: {
          accept: 'text/html,*/*;q=0.8',
          'content-type': 'application/x-www-form-urlencoded',
          origin: `http://${options.host ?? 'localhost'}`,
          'sec-fetch-site': 'same-origin',
          ...options.headers,
        },
      }),
  }
}

export const credentials = (email = ADMIN) => ({ email, password: PASSWORD })

/** The status and location of a redirect, to compare together. */
export const redirectOf = (answer: Response) => [answer.status, answer.headers.get('location')]

/** A page without the ids that differ each time it is rendered. */
export const withoutPageIds = (page: string): string =>
  page.replace(new RegExp(`(name="${PAGE_ID}" value=")[^"]*`, 'g'), '$1')
