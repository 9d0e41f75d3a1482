// What a stranger types first.
import { followDocuments } from './follow.ts'

followDocuments([['README.md']], 0)
