import { randomBytes } from 'node:crypto'

const INTENT_ID = /^[0-9a-f]{32}$/

export const newIntentId = () => randomBytes(16).toString('hex')

/** Whether a text has the format of an intent's id; other texts are not looked up. */
export const isIntentId = (text: string) => INTENT_ID.test(text)
