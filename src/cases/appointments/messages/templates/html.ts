/** Makes the HTML part of a mail from its text: paragraphs, line breaks, links, and bold labels such as "When:". */
export function htmlOf(text: string, subject: string): string {
  const paragraphs = text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => `<p style="margin:0 0 16px">${paragraph.split('\n').map(lineOf).join('<br>\n')}</p>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:16px;background:#fff;color:#222;font:16px/1.5 Arial,sans-serif">
<div style="max-width:640px;overflow-wrap:anywhere;word-break:break-word">
${paragraphs.join('\n')}
</div>
</body></html>
`;
}

const LABEL = /^[A-Z][A-Za-z ]{0,19}: /;
const LINK = /https?:\/\/[^\s<>"]+/g;
const PUNCTUATION = new Set(".,;:!?)]'");

function lineOf(line: string): string {
  const [label = ''] = LABEL.exec(line) ?? [];
  return (label && `<strong>${label.trimEnd()}</strong> `) + withLinks(line.slice(label.length));
}

/** Keeps "14:30–15:30" and "020 7946 0018" on one line. */
const keepTogether = (text: string): string =>
  escapeHtml(text)
    .replace(/\d\d:\d\d–\d\d:\d\d/g, '<span style="white-space:nowrap">$&</span>')
    .replace(/(?<=\d) (?=\d)/g, '&nbsp;');

/** Links the addresses of the web, without the punctuation that ends the sentence. */
function withLinks(text: string): string {
  let html = '';
  let shown = 0;
  for (const { 0: match, index } of text.matchAll(LINK)) {
    let end = index + match.length;
    while (PUNCTUATION.has(text.charAt(end - 1))) end--;
    const address = escapeHtml(text.slice(index, end));
    html += `${keepTogether(text.slice(shown, index))}<a href="${address}">${address}</a>`;
    shown = end;
  }
  return html + keepTogether(text.slice(shown));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
