export { type Operation, operationsOf } from './documented.ts'
export { lintDocument } from './lint.ts'
