// node scripts/run.mjs SCRIPT …: installs what is needed and runs a script of this project with Bun.
import { become, prepare } from './bootstrap.mjs'

become(prepare(), process.argv.slice(2))
