import { readSecretKeys } from './secret-keys.ts'

/** Run by secret-keys.test.ts: shows the keys of the file that it was given, once it is told to. */
const [path = ''] = process.argv.slice(2)
console.log('ready')
for await (const _go of console) break
console.log(readSecretKeys(path).join())
