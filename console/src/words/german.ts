import { english } from './english.ts'

export const german = english
