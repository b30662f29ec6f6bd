import type { Check } from './check.ts'

export const checkRetention: Check = () => ({ status: 'off', message: 'No project has a retention policy' })

export const checkPreviews: Check = () => ({ status: 'off', message: 'There are no previews' })
