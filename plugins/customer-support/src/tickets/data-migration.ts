import type { Phrases } from './phrases.ts'

export const dataMigration: Phrases = {
  slots: {
    move: ['migrate', 'move', 'transfer', 'import', 'bring over'],
    data: ['our customer records', 'all our data', 'our contacts', '40,000 rows', 'our history', 'the whole database'],
    source: ['our old system', 'Salesforce', 'a CSV export', 'a spreadsheet', 'another vendor', 'our legacy CRM'],
    broken: ['stuck at 60 percent', 'incomplete', 'full of duplicates', 'missing columns', 'garbled'],
  },
  train: {
    request: [
      'We want to {move} {data} from {source}.',
      'How do we {move} {data} out of {source}?',
      'The migration of {data} is {broken}.',
      'After the import from {source}, {data} are {broken}.',
      'I started to {move} {data} on {date} and it is {broken}.',
      'Please help us {move} {data} to the new workspace.',
      'Our import of {source} is {broken}, can you look at it?',
      'We are switching from {source} and need {data} moved.',
      'Which format should {source} have to {move} {data}?',
      'Half of the rows from {source} were skipped by the importer.',
      'The migration wizard says mapping failed for {data}.',
      'We plan to {move} {data} next week, what do we have to prepare?',
      'The migrated data from {source} look {broken}.',
      'Importing {source}: the file is uploaded, the records are {broken}.',
      'The importer does not match the columns of {source}.',
      'What is the best way to get {data} into your product? We {move} them from {source}.',
    ],
    detail: [
      'The field mapping in the wizard is correct.',
      'The file has about twenty columns in UTF-8.',
      'We must keep the created dates of all records.',
      'We would like to finish the migration before the end of the month.',
      'The old database will be switched off soon.',
      'There are attachments in the export as well.',
      'We already did a dry run with a hundred rows.',
    ],
  },
  held: {
    request: [
      'Our team leaves {source} this month and has to {move} {data}.',
      'What is the best way to {move} {data}? They sit in {source}.',
      'Data import trouble: the records from {source} are {broken}.',
      'Columns do not match when we {move} {data}.',
      'The importer skipped rows, so {data} came out {broken}.',
      'We need a plan to {move} {data} with all attachments from {source}.',
    ],
    detail: [
      'The export has hundreds of columns and attachments.',
      'The mapping in the migration wizard looks right.',
      'We did a dry run with some rows before.',
      'The legacy database closes soon.',
    ],
  },
}
