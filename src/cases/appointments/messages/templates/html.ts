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
<div style="max-width:560px;overflow-wrap:anywhere;word-break:break-word">
${paragraphs.join('\n')}
</div>
</body></html>
`;
}

const LABEL = /^[A-Z][A-Za-z ]{0,19}: /;
/** An address of the web up to the punctuation that ends the sentence, or an email address. */
const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]]|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;

function lineOf(line: string): string {
  const [label = ''] = LABEL.exec(line) ?? [];
  return (label && `<strong>${label.trimEnd()}</strong> `) + withLinks(line.slice(label.length));
}

function withLinks(text: string): string {
  let html = '';
  let end = 0;
  for (const { 0: link, index } of text.matchAll(LINK)) {
    const address = /^https?:/.test(link) ? link : `mailto:${link}`;
    html += `${escapeHtml(text.slice(end, index))}<a href="${escapeHtml(address)}">${escapeHtml(link)}</a>`;
    end = index + link.length;
  }
  return html + escapeHtml(text.slice(end));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
