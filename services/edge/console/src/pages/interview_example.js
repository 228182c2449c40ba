// A form to begin with, in the language of the user.
const english = {
  title: 'Incident report',
  fields: [
    { id: '1', fieldId: 'name', label: 'Your name', required: true, sortOrder: 1, type: 'FIELD_TYPE_TEXT' },
    { id: '2', fieldId: 'email', label: 'Your e-mail address', required: true, sortOrder: 2, type: 'FIELD_TYPE_EMAIL' },
    { id: '3', fieldId: 'date', label: 'Date of the incident', required: true, sortOrder: 3, type: 'FIELD_TYPE_DATE' },
    { id: '4', fieldId: 'kind', label: 'Kind of incident', required: true, sortOrder: 4, type: 'FIELD_TYPE_CHOICE',
      choices: [{ value: 'injury', label: 'Injury' }, { value: 'damage', label: 'Damage to property' }, { value: 'near_miss', label: 'Near miss' }] },
    { id: '5', fieldId: 'story', label: 'What happened', required: true, sortOrder: 5, type: 'FIELD_TYPE_TEXT' },
  ],
}
const japanese = {
  title: '事故報告',
  fields: [
    { id: '1', fieldId: 'name', label: 'お名前', required: true, sortOrder: 1, type: 'FIELD_TYPE_TEXT' },
    { id: '2', fieldId: 'email', label: 'メールアドレス', required: true, sortOrder: 2, type: 'FIELD_TYPE_EMAIL' },
    { id: '3', fieldId: 'date', label: '発生日', required: true, sortOrder: 3, type: 'FIELD_TYPE_DATE' },
    { id: '4', fieldId: 'kind', label: '事故の種類', required: true, sortOrder: 4, type: 'FIELD_TYPE_CHOICE',
      choices: [{ value: 'injury', label: 'けが' }, { value: 'damage', label: '物の破損' }, { value: 'near_miss', label: 'ヒヤリハット' }] },
    { id: '5', fieldId: 'story', label: '状況', required: true, sortOrder: 5, type: 'FIELD_TYPE_TEXT' },
  ],
}
export const exampleForm = lang => (lang === 'ja' ? japanese : english)
