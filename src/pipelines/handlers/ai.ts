import type { Runner } from '../runner.ts'

/** It limits its own time. What speaks with providers is loaded with the first question. */
export const aiRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const { askModel } = await import('../models/ask-model.ts')
    return askModel(step, config)
  },
}
