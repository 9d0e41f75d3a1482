export type { Hit, Product, Question, Vector } from './catalogue.ts'
