import { expect, test } from 'bun:test'
import { botName } from './bots.ts'

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0'

const cases: [userAgent: string, name: string | null][] = [
  [`${CHROME} Safari/537.36`, null],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', null],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile Safari/604.1',
    null,
  ],
  [
    'Mozilla/5.0 (Linux; Android 14; CUBOT KINGKONG) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36',
    null,
  ],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'googlebot'],
  ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116', 'bingbot'],
  ['Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)', 'gptbot'],
  ['facebookexternalhit/1.1', 'facebookexternalhit'],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'slackbot-linkexpanding'],
  ['SomeThing-Crawler/3 (+https://example.com)', 'something-crawler'],
  [`${CHROME.replace('Chrome', 'HeadlessChrome')} Safari/537.36`, 'headlesschrome'],
  ['curl/8.5.0', 'curl'],
  ['svc/0.1.0', 'svc'],
  ['svc-upload-action', 'svc-upload-action'],
  ['python-requests/2.32', 'python'],
  ['Go-http-client/2.0', 'go-http-client'],
  ['Bun/1.4.4', 'bun'],
  ['node', 'node'],
  ['', 'unnamed'],
]

test.each(cases)('%s is %p', (userAgent, name) => {
  expect(botName(userAgent)).toBe(name)
  expect(botName(userAgent)).toBe(name)
})
