import { expect, test } from 'vitest'
import { breakingChanges } from './breaking-changes.ts'

test.each([
  ['alter table market.reviews drop column body;', 'drops something'],
  ['ALTER TABLE market.reviews DROP body;', 'drops a column'],
  ['drop table market.reviews;', 'drops something'],
  ['alter table market.reviews rename to texts;', 'renames something'],
  ['alter table market.reviews rename column body to text;', 'renames something'],
  ['alter table market.reviews alter column body type bytea;', 'changes the type of a column'],
  ['alter table market.reviews alter body set data type bytea;', 'changes the type of a column'],
  ['alter table market.reviews alter body set not null;', 'makes a column NOT NULL'],
  ['alter table a add column b int not null;', 'adds a column that is NOT NULL and has no default'],
  ['alter table a add b int, add c text not null;', 'adds a column that is NOT NULL and has no default'],
  ['alter table a add check (b > 0);', 'adds a constraint to a table that the version before writes'],
  ['create unique index on market.reviews (body);', 'makes values of market.reviews unique'],
  ['create index on market.reviews (body);', expect.stringContaining('without IF NOT EXISTS')],
  ['truncate market.reviews;', 'empties a table'],
])('a file that expands may not say %j', (text, problem) => {
  expect(breakingChanges(`-- expand: something\n${text}`)).toContainEqual(problem)
})

test.each([
  'create table market.notes (id int8 primary key, text text not null); create unique index on market.notes (text);',
  'alter table a add column b int;',
  "alter table a add column b int not null default 0, add c text not null default '';",
  'alter table a alter b drop not null;',
  'create index if not exists reviews_body on market.reviews (body);',
  '-- nobody may rename or drop table a\nalter table a add b int;',
])('a file that expands may say %j', (text) => {
  expect(breakingChanges(`-- expand: something\n${text}`)).toEqual([])
})
