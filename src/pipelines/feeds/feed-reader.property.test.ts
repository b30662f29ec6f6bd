import { expect, test } from 'bun:test'
import type { FeedEntry } from '../../domain/feeds/entry.ts'
import { FeedReader } from '../../domain/feeds/feed-reader.ts'
import { XmlError } from '../../domain/feeds/xml-reader.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

/** Whatever a document holds, and in whatever pieces it comes: the same entries, or the same fault, and nothing else. */

const PARTS = [
  '<?xml version="1.0"?>',
  '<!DOCTYPE rss>',
  '<!DOCTYPE rss [<!ENTITY a "b">]>',
  '<rss>',
  '</rss>',
  '<channel>',
  '</channel>',
  '<item>',
  '</item>',
  '<feed xmlns="a">',
  '</feed>',
  '<entry>',
  '</entry>',
  '<rdf:RDF>',
  '</rdf:RDF>',
  '<title>',
  '</title>',
  '<link rel="alternate" href="/a?b&amp;c"/>',
  '<link>',
  '</link>',
  '<x:y a="1" b=\'2\' c>',
  '</x:y>',
  '<enclosure url="a" length="1e3"/>',
  '<pubDate>Wed, 02 Oct 2024 15:00:00 +0200</pubDate>',
  '<![CDATA[<b>]]',
  ']]>',
  '<!-- a -- b',
  '-->',
  '<?p i?>',
  '&amp;',
  '&nope;',
  '&#x1F600;',
  '&#55296;',
  '&',
  '<',
  '>',
  '"',
  '/',
  '=',
  '😀',
  '\u0000',
  ' ',
  'text',
  '__proto__',
]
const WHOLE = `<rss><channel><title>T</title><item><title>a &amp; b</title><link>x</link><x:y a="1">z</x:y></item></channel></rss>`

type Result = { entries: FeedEntry[]; fault: string | null }

function read(xml: string, sizes: () => number): Result {
  const entries: FeedEntry[] = []
  const reader = new FeedReader('https://example.com/', (entry) => entries.push(entry))
  try {
    for (let at = 0; at < xml.length; ) {
      const size = sizes()
      reader.write(xml.slice(at, at + size))
      at += size
    }
    reader.end()
    return { entries, fault: null }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    return { entries, fault: error.message }
  }
}

test('a document is read alike in all pieces, and fails with a fault of its own', () => {
  const random = seededRandom(seedOf('feeds'))
  const below = (count: number) => Math.floor(random() * count)
  const pick = () => PARTS[below(PARTS.length)] ?? ''
  const mutated = () => {
    let xml = WHOLE
    for (let i = below(4); i >= 0; i--) {
      const at = below(xml.length)
      xml = xml.slice(0, at) + pick() + xml.slice(at + below(3))
    }
    return xml
  }
  const made = () => Array.from({ length: below(30) }, pick).join('')
  let good = 0
  for (let i = 0; i < rounds(2000, 200_000); i++) {
    const xml = random() < 0.7 ? mutated() : made()
    const whole = read(xml, () => xml.length)
    expect({ xml, ...read(xml, () => 1 + below(9)) }).toEqual({ xml, ...whole })
    expect(JSON.parse(JSON.stringify(whole.entries))).toEqual(whole.entries)
    if (whole.fault === null) good += 1
  }
  expect(good).toBeGreaterThan(10)
})
