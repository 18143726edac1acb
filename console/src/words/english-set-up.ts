import { aws } from './english/aws.ts'
import { directories } from './english/directories.ts'
import { logins } from './english/logins.ts'
import { people } from './english/people.ts'
import { resources } from './english/resources.ts'
import { rules } from './english/rules.ts'
import { start } from './english/start.ts'

/** The words of the pages by which an organization is set up, and of what few see, in English. They are loaded when they are needed. */
export const englishSetUp = { aws, directories, logins, people, resources, rules, start }
