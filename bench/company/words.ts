/** The words of the large data set. Lists are in order of frequency: the first words occur most. */

export const FIRST_NAMES =
  'David John Sarah Susan James Paul Mary Michael Margaret Peter Robert Karen Helen Andrew Richard Christine Stephen ' +
  'Julie Elizabeth William Linda Mark Patricia Thomas Anne Jane Christopher Emma George Alan Catherine Brian Jennifer ' +
  'Anthony Alison Simon Barbara Martin Claire Kevin Ann Mohammed Jacqueline Philip Joanne Ian Amanda Graham Zoë Keith ' +
  'Siân Kenneth Chloë Roger André Priya Owen Eilidh Renée Aisling José Wei Fatima Łukasz Björn Inès Oluwaseun Nguyệt';

export const LAST_NAMES =
  'Smith Jones Taylor Brown Williams Wilson Johnson Davies Patel Robinson Wright Thompson Evans Walker White Roberts ' +
  'Green Hall Wood Jackson Clarke Khan Harris Lewis Thomas Turner Hill Cooper Ward Morris Moore Clark Harrison Lee King ' +
  'Baker Martin Morgan Allen James Scott Phillips Watson Davis Parker Bennett Price Griffiths Young Edwards Mitchell ' +
  "Cook Hussain Begum Shah Murphy Ali Kelly Singh O'Neill Ahmed Richardson Bailey Carter Collins Bell Shaw Murray " +
  'Marshall Rogers Kaur Stevens Webb Simpson Foster Ellis Adams Chapman Hunt Mills Palmer Holmes Knight Butler Barnes ' +
  "Fletcher Stone Pearson Müller García Nowak Żółtowski Lefèvre Ó'Brien Søndergaard Çelik Nagy Kovács Fernández Núñez " +
  'Böhm Šimić Ängström Okonkwo Adeyemi Mbeki Haddad Rahman Ivanov Popescu Papadopoulos Yılmaz Dvořák Þórsson Zhang';

export const TOWNS =
  'London Birmingham Leeds Glasgow Sheffield Bradford Liverpool Edinburgh Manchester Bristol Wakefield Cardiff Coventry ' +
  'Nottingham Leicester Sunderland Belfast Newcastle Brighton Hull Plymouth Stoke Derby Swansea Exeter York Truro';
export const STREETS =
  'High_Street Station_Road Main_Street Park_Road Church_Road Church_Street London_Road Victoria_Road Green_Lane ' +
  'Manor_Road Church_Lane Park_Avenue The_Avenue The_Crescent Queens_Road New_Road Grange_Road Kings_Road Mill_Lane';
export const OCCUPATIONS =
  'retired teacher nurse director engineer accountant builder carer driver manager electrician consultant farmer chef';
export const MATTERS =
  'wills probate conveyance lasting_power_of_attorney trust estate_planning divorce remortgage pension_review lease ' +
  'guardianship inheritance_tax business_succession deputyship equity_release';

export const OPENINGS =
  'Spoke_to Left_a_message_for Called_back Received_a_letter_from Sent_the_draft_to Met Video_call_with Chased ' +
  'Emailed Text_from Wrote_to Discussed_fees_with Took_instructions_from Explained_the_delay_to';
export const TOPICS =
  'the_draft_will the_signed_papers the_witnesses the_land_registry_title proof_of_identity the_executors ' +
  'the_bank_statements the_invoice the_valuation_of_the_house the_trust_deed the_power_of_attorney the_pension ' +
  'the_inheritance_tax_return the_appointment the_funeral_costs the_mortgage_offer the_probate_application ' +
  'the_guardian_of_the_children the_completion_date the_business_shares the_premium_bonds the_codicil the_life_interest';
export const ENDINGS =
  'will_call_again_next_week waiting_for_a_reply to_be_signed_at_the_next_meeting sent_by_recorded_delivery ' +
  'needs_a_certified_copy wants_changes_to_the_residue asked_for_an_estimate all_agreed urgent_before_the_operation ' +
  'daughter_will_attend prefers_email no_further_action the_original_is_in_the_safe query_about_the_beneficiaries';
