"""The fields that the dialogues are about: a booking, in Japanese and English."""
from desk import field, form, message

LIMITS, CHOICE = message("FieldLimits"), message("FieldChoice")
LABELS = {
    "name": ("お名前", "Your name"), "mail": ("メールアドレス", "E-mail"), "phone": ("電話番号", "Telephone number"),
    "age": ("年齢", "Age"), "day": ("到着日", "Day of arrival"), "time": ("到着時刻", "Time of arrival"), "room": ("お部屋", "Room"),
    "meals": ("お食事", "Meals"), "parking": ("駐車場のご利用", "Do you need a parking space?"), "plate": ("車のナンバー", "Number plate"),
    "note": ("ご要望", "Wishes"),
}
ROOMS = (("single", "シングル", "Single", ["一人部屋", "one person", "for one"]), ("double", "ダブル", "Double", ["二人部屋", "two people"]),
         ("suite", "スイート", "Suite", []))
MEALS = (("breakfast", "朝食", "Breakfast"), ("lunch", "昼食", "Lunch"), ("dinner", "夕食", "Dinner"))
FIELDS = {"name": "name:TEXT!", "mail": "mail:EMAIL!", "phone": "phone:PHONE", "age": "age:NUMBER!", "day": "day:DATE!", "time": "time:TIME!",
          "room": "room:CHOICE!", "meals": "meals:CHOICES!", "parking": "parking:YES_NO!", "plate": "plate:TEXT!", "note": "note:TEXT"}


def more(name, language):
    ja = language == "ja"
    return {
        "age": {"limits": LIMITS(minimum="0", maximum="130", whole=True)},
        "room": {"choices": [CHOICE(value=value, label=one if ja else other, also=also) for value, one, other, also in ROOMS]},
        "meals": {"choices": [CHOICE(value=value, label=one if ja else other) for value, one, other in MEALS]},
        "plate": {"only_if_json": '{"field": "parking", "equals": true}'},
    }.get(name, {})


def booking(names, language):
    """The form of these fields."""
    return form(*(field(FIELDS[name], label=LABELS[name][language == "en"], **more(name, language)) for name in names))
