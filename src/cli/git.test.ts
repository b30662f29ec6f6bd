import { expect, test } from 'bun:test'
import { projectOfRemote } from './git.ts'

const cases: [remote: string, project: string | undefined][] = [
  ['https://github.com/acme/site.git', 'acme/site'],
  ['https://user@github.com/acme/site', 'acme/site'],
  ['https://git.example.com:8443/acme/my.site/', 'acme/my.site'],
  ['git@github.com:acme/site.git', 'acme/site'],
  ['ssh://git@example.com:2222/acme/site.git', 'acme/site'],
  ['github:acme/site', 'acme/site'],
  ['https://gitlab.com/group/sub/site.git', undefined],
  ['https://example.com/site.git', undefined],
  ['/srv/git/acme/site.git', undefined],
  ['../acme/site.git', undefined],
  ['file:///srv/acme/site.git', undefined],
  ['C:\\git\\acme\\site', undefined],
  ['C:/acme/site', undefined],
]

test.each(cases)('%s is %p', (remote, project) => {
  expect(projectOfRemote(remote)).toBe(project)
})
