import { people } from './english/people.ts'
import { resources } from './english/resources.ts'
import { rules } from './english/rules.ts'
import { start } from './english/start.ts'

/** The words of the pages by which an organization is set up, in English. They are loaded with these pages. */
export const englishSetUp = { people, resources, rules, start }
