import { AppError } from '../../domain/errors.ts'
import type { McpConfig } from '../language/handlers/mcp.ts'
import type { Runner } from '../runner.ts'

/** The steps of the tools limit their own time. The protocol is loaded when it is first spoken. */
export const mcpRunner: Runner = {
  boundsOwnTime: true,
  async run({ asker, input }, config) {
    if (asker === null) throw new AppError('internal', 'An mcp_handler only answers requests')
    asker.refuseForeign()
    if (input.method !== 'POST')
      throw new AppError('method_not_allowed', 'Messages are sent by POST', { headers: { allow: 'POST' } })
    const { answerMessage } = await import('../mcp/answer-message.ts')
    return answerMessage(config as McpConfig, input, asker)
  },
}
