// npm start: installs what is needed, builds the executable and serves. Arguments go on to `svc serve`.
import { join } from 'node:path'
import { become, prepare, root, run } from './bootstrap.mjs'

const bun = prepare()
run(bun, ['scripts/build.ts'])
become(join(root, 'dist/svc'), ['serve', ...process.argv.slice(2)])
