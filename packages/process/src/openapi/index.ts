export { docsRoutes } from './docs.ts'
export {
  type DescribedAnswer,
  describeOperations,
  examplesOf,
  type Fields,
  type Operation,
} from './document.ts'
export { type Json, toJsonSchema, wholeJsonSchema } from './json-schema.ts'
