// The documents that newcomers follow after the README.
import { followDocuments } from './follow.ts'

followDocuments([['docs/selling.md'], ['docs/quickstart.md'], ['docs/agents.md']], 1)
