import { configHelp } from '../config/config.ts'
import { VERSION } from '../release-info.ts'
import { serve } from '../server/serve.ts'
import { type Command, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'

export const serveCommand: Command = {
  summary: 'Run the appliance (the default command)',
  usage: `usage: svc serve [--port 3000] [--data-dir ./data] ...

Serves the API, the admin and every site. Settings come from flags or the environment, a flag first:

${configHelp()}`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc serve takes no arguments, and got "${words[0]}"`)
    return serve(config, VERSION, { put: io.stdout.put, isTerminal: io.isTerminal })
  },
}
